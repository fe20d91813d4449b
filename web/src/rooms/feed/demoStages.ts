/** The messages for the stages of the demo job. */
export const demoStages: Readonly<
  Record<
    string,
    | "demo.stagePeople"
    | "demo.stageFollows"
    | "demo.stagePhotos"
    | "demo.stageLikes"
    | "demo.stageFaces"
    | "demo.stageComments"
    | "demo.stageStories"
  >
> = {
  people: "demo.stagePeople",
  follows: "demo.stageFollows",
  photos: "demo.stagePhotos",
  likes: "demo.stageLikes",
  faces: "demo.stageFaces",
  comments: "demo.stageComments",
  stories: "demo.stageStories",
};
