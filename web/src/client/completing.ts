/** What somebody may mean while they type: people, hashtags, places. */
import { send } from "./http";
import type { Schemas } from "./types";

export type FoundPerson = Schemas["search_PersonView"];
export type FoundTag = Schemas["TagView"];
export type FoundPlace = Schemas["search_PlaceView"];

const FEW = 6;

export const findPeople = async (text: string, signal: AbortSignal): Promise<readonly FoundPerson[]> =>
  (
    await send<Schemas["search_PeopleView"]>("GET", "/search/people", {
      query: { q: text, limit: FEW },
      signal,
    })
  ).people;

export const findTags = async (text: string, signal: AbortSignal): Promise<readonly FoundTag[]> =>
  (await send<Schemas["TagsView"]>("GET", "/search/tags", { query: { q: text, limit: FEW }, signal })).tags;

export const findPlaces = async (text: string, signal: AbortSignal): Promise<readonly FoundPlace[]> =>
  (await send<Schemas["PlacesView"]>("GET", "/search/places", { query: { q: text, limit: FEW }, signal }))
    .places;

export const findNearby = async (latitude: number, longitude: number): Promise<readonly FoundPlace[]> =>
  (
    await send<Schemas["NearbyPlacesView"]>("GET", "/places/nearby", {
      query: { lat: latitude, lon: longitude },
    })
  ).places.map(({ place }) => place);

/** The place of this name here: the one that is known, or a new one. */
export const namePlace = (name: string, latitude: number, longitude: number) =>
  send<FoundPlace>("POST", "/places", { json: { name, latitude, longitude } });
