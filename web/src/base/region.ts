import { language } from "./i18n";

/** "Ohio, United States": which of several places of a name. Either part may be empty. */
export function describeRegion(region: string, countryCode: string): string {
  const country = countryCode && new Intl.DisplayNames(language.code, { type: "region" }).of(countryCode);
  return [region, country].filter(Boolean).join(", ");
}
