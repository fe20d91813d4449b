/** Types of messages and their placeholders: a missing parameter is a type error instead of a gap on screen. */

/** A plural message has one text per plural category of its language; `other` is mandatory. */
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

/** `count` is a number, which selects the plural and is formatted for the locale; all other parameters are text. */
export type Params<M> = { [Name in NamesIn<M>]: Name extends "count" ? number : string };

/** Arguments after the key: none for a plain message, exactly its placeholders otherwise. */
export type Args<M> = [NamesIn<M>] extends [never] ? [] : [params: Params<M>];

/** A translation has every key of the English catalogue. */
export type Translation<English> = {
  readonly [K in keyof English]: English[K] extends string ? string : Message;
};
