/** The shape of a message, and which placeholders it needs: a missing parameter is a type error, not a blank on screen. */

/** A plural message offers one wording per category that its language knows; `other` always exists. */
export type Plural = Partial<Record<Exclude<Intl.LDMLPluralRule, "other">, string>> & {
  readonly other: string;
};
export type Message = string | Plural;

type Placeholders<S> = S extends `${string}{${infer Name}}${infer Rest}` ? Name | Placeholders<Rest> : never;
type NamesIn<M> = M extends string
  ? Placeholders<M>
  : M extends { other: infer S }
    ? Placeholders<S> | "count"
    : never;

/** `count` is a number, so that it can be counted and written the local way; everything else is text. */
export type Params<M> = { [Name in NamesIn<M>]: Name extends "count" ? number : string };

/** Arguments after the key: none for a plain message, exactly its placeholders otherwise. */
export type Args<M> = [NamesIn<M>] extends [never] ? [] : [params: Params<M>];

/** A translation has every key; a plural stays a plural, because its callers pass a count. */
export type Translation<English> = {
  readonly [K in keyof English]: English[K] extends string ? string : Message;
};
