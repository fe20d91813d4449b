/** The share target of the manifest: photos that another app shares open in the composer. */
import { keepShared } from "../base/sharedFiles";

export const SHARE_PATH = "/share";

export async function receiveShare(request: Request): Promise<Response> {
  try {
    const form = await request.formData();
    const files = form.getAll("media").filter((each) => each instanceof File);
    const words = ["title", "text", "url"]
      .map((name) => form.get(name))
      .filter((each) => typeof each === "string");
    await keepShared(files, words.filter((each) => each !== "").join("\n"));
  } catch {
    // The form could not be read: the composer opens without files.
  }
  return Response.redirect("/create", 303);
}
