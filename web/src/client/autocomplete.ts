/** Suggestions while typing: people, hashtags, places. */
import { send } from "./http";
import type { Schemas } from "./types";

export type FoundPerson = Schemas["FoundPersonView"];
export type FoundTag = Schemas["TagView"];
export type FoundPlace = Schemas["PlaceView"];
export type SuggestedPlace = Schemas["SuggestedPlaceView"];

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

/** Places to choose for a post: those that posts name already, then towns and cities of the gazetteer. */
export const suggestPlaces = async (text: string, signal: AbortSignal): Promise<readonly SuggestedPlace[]> =>
  (
    await send<Schemas["SuggestedPlacesView"]>("GET", "/places/suggestions", {
      query: { q: text, limit: LIMIT },
      signal,
    })
  ).places;

export const listOwnPlaces = async (): Promise<readonly FoundPlace[]> =>
  (await send<Schemas["PlacesView"]>("GET", "/places/mine")).places;

export const findNearby = async (latitude: number, longitude: number): Promise<readonly FoundPlace[]> =>
  (
    await send<Schemas["NearbyPlacesView"]>("GET", "/places/nearby", {
      query: { lat: latitude, lon: longitude },
    })
  ).places.map(({ place }) => place);

/** The place with this name at these coordinates; created when it does not exist yet. */
export const findOrCreatePlace = (name: string, latitude: number, longitude: number) =>
  send<FoundPlace>("POST", "/places", { json: { name, latitude, longitude } });

/** A suggested place under its id, from now on among one's own; one of the gazetteer is created first. */
export async function takeSuggested(place: SuggestedPlace): Promise<FoundPlace> {
  const noted = findOrCreatePlace(place.name, place.latitude, place.longitude);
  if (!place.place_id) return noted;
  noted.catch(() => {}); // Without a connection it is not among one's own, and can be used all the same.
  return { ...place, place_id: place.place_id };
}
