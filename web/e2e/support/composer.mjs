// What several flows do in the composer.

/** The pictures of the filmstrip. */
export const frames = (page) =>
  page.getByRole("listbox", { name: "Photos and videos of this post" }).getByRole("option");

export async function waitUntilUploaded(page, count) {
  await page.waitForFunction(
    (n) => document.querySelectorAll("[role=option].frame.ready").length === n,
    count,
  );
}

/** Selects each picture in turn and describes it. */
export async function describe(page, ...texts) {
  for (const [index, text] of texts.entries()) {
    await frames(page).nth(index).click();
    await page.getByRole("tab", { name: "Description" }).click();
    await page.locator("textarea.alt").fill(text);
  }
}

/** Waits until all of the draft is stored on this device. */
export async function waitUntilSaved(page) {
  await page.getByText("Saved on this device").waitFor();
}

/** Publishes in the background, and waits until that is done. */
export async function publishAndWait(page) {
  await page.getByRole("button", { name: "Publish" }).click();
  await page.getByText("Published.").waitFor();
}
