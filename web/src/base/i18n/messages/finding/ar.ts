/** Arabic, search, explore, tags and places. */
import type { Translation } from "../../types";
import type { en } from "./en";

export const ar: Translation<typeof en> = {
  "finding.label": "ابحث عن أشخاص ووسوم وأماكن",
  "finding.results": "النتائج",
  "finding.count": {
    zero: "لا نتائج",
    one: "نتيجة واحدة",
    two: "نتيجتان",
    few: "{count} نتائج",
    many: "{count} نتيجة",
    other: "{count} نتيجة",
  },
  "finding.nothing": "لا شيء بهذا الاسم",
  "finding.nothingBody": "تحقّق من الإملاء أو جرّب حروفًا أقل.",
  "finding.followers": {
    zero: "لا متابعين",
    one: "متابع واحد",
    two: "متابعان",
    few: "{count} متابعين",
    many: "{count} متابعًا",
    other: "{count} متابع",
  },
  "finding.mutuals": {
    zero: "لا يتابعه أحد ممن تتابعهم",
    one: "يتابعه شخص تتابعه",
    two: "يتابعه شخصان تتابعهما",
    few: "يتابعه {count} ممن تتابعهم",
    many: "يتابعه {count} ممن تتابعهم",
    other: "يتابعه {count} ممن تتابعهم",
  },
  "finding.place": "مكان",
  "finding.recent": "عمليات البحث الأخيرة",
  "finding.forget": "نسيان {what}",
  "finding.forgetAll": "نسيان الكل",
  "finding.order": "الترتيب",
  "finding.top": "الأكثر إعجابًا",
  "finding.newest": "الأحدث",
  "finding.tagEmpty": "لا منشورات هنا",
  "finding.tagEmptyBody": "لم يستخدم أحد ‎#{tag} في منشور عام يمكنك رؤيته.",
  "finding.placeEmpty": "لا منشورات من هنا",
  "finding.placeEmptyBody": "تظهر هنا المنشورات العامة من هذا المكان.",
  "finding.placeGone": "لا يوجد هذا المكان",
  "finding.placeGoneBody": "قد يكون العنوان خاطئًا. البحث يجد الأماكن بأي كلمة من أسمائها.",
  "finding.exploreEmpty": "لا شيء لاستكشافه بعد",
  "finding.exploreEmptyBody": "ستُعلّق هنا صور عامة لأشخاص لا تتابعهم بعد.",
};
