/** Arabic messages: search, explore, tags and places. */
import type { Translation } from "../../types";
import type { en } from "./en";

export const ar: Translation<typeof en> = {
  "search.label": "ابحث عن أشخاص ووسوم وأماكن",
  "search.results": "النتائج",
  "search.count": {
    zero: "لا نتائج",
    one: "نتيجة واحدة",
    two: "نتيجتان",
    few: "{count} نتائج",
    many: "{count} نتيجة",
    other: "{count} نتيجة",
  },
  "search.nothing": "لا شيء بهذا الاسم",
  "search.nothingBody": "تحقّق من الإملاء أو جرّب حروفًا أقل.",
  "search.followers": {
    zero: "لا متابعين",
    one: "متابع واحد",
    two: "متابعان",
    few: "{count} متابعين",
    many: "{count} متابعًا",
    other: "{count} متابع",
  },
  "search.mutuals": {
    zero: "لا يتابعه أحد ممن تتابعهم",
    one: "يتابعه شخص تتابعه",
    two: "يتابعه شخصان تتابعهما",
    few: "يتابعه {count} ممن تتابعهم",
    many: "يتابعه {count} ممن تتابعهم",
    other: "يتابعه {count} ممن تتابعهم",
  },
  "search.place": "مكان",
  "search.recent": "عمليات البحث الأخيرة",
  "search.forget": "نسيان {what}",
  "search.forgetAll": "نسيان الكل",
  "search.order": "الترتيب",
  "search.top": "الأكثر إعجابًا",
  "search.newest": "الأحدث",
  "search.tagEmpty": "لا منشورات هنا",
  "search.tagEmptyBody": "لم يستخدم أحد ‎#{tag} في منشور عام يمكنك رؤيته.",
  "search.placeEmpty": "لا منشورات من هنا",
  "search.placeEmptyBody": "تظهر هنا المنشورات العامة من هذا المكان.",
  "search.placeGone": "لا يوجد هذا المكان",
  "search.placeGoneBody": "قد يكون العنوان خاطئًا. البحث يجد الأماكن بأي كلمة من أسمائها.",
  "search.exploreEmpty": "لا شيء لاستكشافه بعد",
  "search.exploreEmptyBody": "ستُعلّق هنا صور عامة لأشخاص لا تتابعهم بعد.",
};
