/** The feed looks for news as everything here does. */
export { keepLooking, waitAfter } from "../../base/polite";
