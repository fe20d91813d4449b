/** Arabic messages: the queue of offline mutations. */
import type { Translation } from "../../types";
import type { en } from "./en";

export const ar: Translation<typeof en> = {
  "offline.likeRefused": "لم يُقبل إعجاب سجّلته دون اتصال. {reason}",
  "offline.saveRefused": "تعذّر حفظ منشور حفظته دون اتصال. {reason}",
  "offline.followRefused": "لم تتم متابعة شخص تابعته دون اتصال. {reason}",
  "offline.commentRefused": "لم يُقبل تعليق كتبته دون اتصال. {reason}",
  "offline.commentLikeRefused": "لم يُقبل إعجاب بتعليق سجّلته دون اتصال. {reason}",
  "offline.state": "غير متصل",
  "offline.waiting": {
    zero: "لا شيء في الانتظار",
    one: "واحد في الانتظار",
    two: "اثنان في الانتظار",
    few: "{count} في الانتظار",
    many: "{count} في الانتظار",
    other: "{count} في الانتظار",
  },
  "offline.sending": "جارٍ الإرسال",
  "offline.sendNow": "إرسال الآن",
  "offline.show": "ما الذي ينتظر",
  "offline.title": "بانتظار الإرسال",
  "offline.body": "هذه محفوظة على هذا الجهاز وستُرسل مرة واحدة حالما يمكن الوصول إلى الخادم.",
  "offline.withdraw": "عدم الإرسال",
  "offline.like": "إعجاب",
  "offline.unlike": "سحب إعجاب",
  "offline.commentLike": "إعجاب بتعليق",
  "offline.commentUnlike": "سحب إعجاب بتعليق",
  "offline.save": "منشور للحفظ",
  "offline.unsave": "إلغاء حفظ منشور",
  "offline.follow": "شخص لمتابعته",
  "offline.unfollow": "شخص لإلغاء متابعته",
  "offline.comment": "تعليق: {text}",
};
