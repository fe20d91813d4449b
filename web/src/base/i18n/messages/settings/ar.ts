/** Arabic, preferences and settings. */
import type { Translation } from "../../types";
import type { en } from "./en";

export const ar: Translation<typeof en> = {
  "preferences.title": "التفضيلات",
  "preferences.look": "المظهر",
  "preferences.theme": "الألوان",
  "preferences.themeAuto": "مثل الجهاز",
  "preferences.themeLight": "فاتح",
  "preferences.themeDark": "داكن",
  "preferences.language": "اللغة",
  "preferences.languageAuto": "مثل المتصفح",
  "preferences.reading": "القراءة",
  "preferences.autoload": "حمّل المزيد من المنشورات تلقائيًا",
  "preferences.autoloadHint": "عند الإيقاف: تنتهي الصفحة بزر، وأنت تقرر متى تتابع.",
  "preferences.shortcuts": "اختصارات بمفتاح واحد",
  "preferences.shortcutsHint": "عند الإيقاف: لا تفعل الحروف شيئًا، وهذا يناسب التحكم بالصوت. اضغط ? لرؤيتها.",
  "preferences.account": "الحساب",
  "preferences.signedInAs": "سجّلت الدخول باسم {name}.",
};
