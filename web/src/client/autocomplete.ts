/** Suggestions while typing: people, hashtags, places. */
import { send } from "./http";
import type { Schemas } from "./types";

export type FoundPerson = Schemas["FoundPersonView"];
export type FoundTag = Schemas["TagView"];
export type FoundPlace = Schemas["PlaceView"];

const LIMIT = 6;

export const findPeople = async (text: string, signal: AbortSignal): Promise<readonly FoundPerson[]> =>
  (
    await send<Schemas["FoundPeopleView"]>("GET", "/search/people", {
      query: { q: text, limit: LIMIT },
      signal,
    })
  ).people;

export const findTags = async (text: string, signal: AbortSignal): Promise<readonly FoundTag[]> =>
  (await send<Schemas["TagsView"]>("GET", "/search/tags", { query: { q: text, limit: LIMIT }, signal })).tags;

export const findPlaces = async (text: string, signal: AbortSignal): Promise<readonly FoundPlace[]> =>
  (await send<Schemas["PlacesView"]>("GET", "/search/places", { query: { q: text, limit: LIMIT }, signal }))
    .places;

export const findNearby = async (latitude: number, longitude: number): Promise<readonly FoundPlace[]> =>
  (
    await send<Schemas["NearbyPlacesView"]>("GET", "/places/nearby", {
      query: { lat: latitude, lon: longitude },
    })
  ).places.map(({ place }) => place);

/** The place with this name at these coordinates; created when it does not exist yet. */
export const findOrCreatePlace = (name: string, latitude: number, longitude: number) =>
  send<FoundPlace>("POST", "/places", { json: { name, latitude, longitude } });
