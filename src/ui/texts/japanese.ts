import type { TimeTexts, UiTexts } from './ui-texts.ts';

const times: TimeTexts = {
  seconds: (count) => `${count}秒`,
  minutes: (count) => `${count}分`,
};

/** The texts of the components in Japanese. */
export const japanese: UiTexts = {
  lang: 'ja',
  sentence: (text) => `${text}。`,
  retryNow: '今すぐ再試行',
  cancel: 'キャンセル',
  nextAttemptIn: '次の試行まで',
  attempt: (attempt, of) =>
    of === undefined ? `${attempt}回目の試行。` : `${of}回中${attempt}回目の試行。`,
  time: times,
  shortTime: times,
  tryingAgainIn: (time) => `${time}後に再試行します。`,
  failures: {
    network: 'サーバーに接続できませんでした',
    timeout: 'サーバーから時間内に応答がありませんでした',
    body: '応答が途中で途切れました',
    'rate-limited': 'サーバーが混み合っています',
    unavailable: 'サーバーを利用できません',
    'server-error': 'サーバーでエラーが発生しました',
    refused: 'サーバーに拒否されました',
    error: 'エラーが発生しました',
  },
  pauses: {
    offline: 'オフラインです',
    'server-down': 'サーバーが停止しています',
    'rate-limited': 'サーバーが混み合っています',
    queued: '順番を待っています',
    hidden: 'このタブが表示されるのを待っています',
  },
  goesOn: '自動的に再開します。',
  otherTabProbes: 'サーバーの復旧は別のタブが確認しています。',
  cancelled: 'キャンセルしました',
  query: {
    label: '読み込み',
    again: '再試行しています',
    succeeded: '読み込みました',
    failed: '読み込めませんでした',
  },
  mutation: {
    label: '送信',
    sending: '送信しています',
    again: 'もう一度送信しています',
    succeeded: '送信しました',
    failed: '実行されませんでした',
    unknown: '実行されたかどうか確認できません',
  },
  connection: {
    offline: 'オフラインです',
    down: 'サーバーが停止しています',
    limited: 'サーバーが混み合っています',
    back: '接続が回復しました',
    checkNow: '今すぐ確認',
    nextCheckIn: '次の確認まで',
    waiting: (count) => `${count}件のリクエストが待機中です。`,
  },
  outbox: {
    label: '送信トレイ',
    empty: 'すべて送信済みです。',
    waiting: (count) => `未送信 ${count}件`,
    dead: (count) => `要確認 ${count}件`,
    notKept:
      '現在このブラウザーには保存できません。送信が終わるまでページを開いたままにしてください。',
    entry: (handler, time) => `${handler}、${time}`,
    pending: '送信待ちです',
    behind: '前の項目に続いて送信します',
    otherVersion: 'このページの別のバージョンが送信します',
    sending: '送信しています',
    done: '送信しました',
    deadTitle: '送信できませんでした',
    reasons: {
      refused: 'サーバーに拒否されました。',
      'not-repeatable':
        '届いている可能性があります。再送信すると二重に実行されるおそれがあります。',
      'answer-lost': '実行されましたが、応答を読み取れませんでした。',
      expired: '届いている可能性がありますが、時間が経ちすぎたため安全に再送信できません。',
      'max-attempts': '試行回数の上限に達しました。',
      'max-age': '保存期間を過ぎました。',
      'handler-missing': 'このバージョンのページでは送信できません。',
      'not-migrated': '以前のバージョンのページで保存されたため、読み取れません。',
      unreadable: '読み取れなくなりました。',
    },
    mayBeDone:
      'すでに実行された可能性があります。内容を変えて送信すると二重に実行されるおそれがあります。',
    sendNow: '今すぐ送信',
    retry: 'もう一度送信',
    retryAll: 'すべてもう一度送信',
    edit: '編集',
    discard: '破棄',
    discardForGood: '完全に破棄する',
    keep: '残す',
    discarded: '破棄しました。',
  },
  form: {
    submit: '送信',
    another: '続けて別のものを送信',
    succeeded: '送信しました',
    failed: (submit) => `もう一度「${submit}」を押せます。`,
    unknown: '届いたかどうか確認できません',
    unknownBefore: '前回送信したものが届いたかどうか確認できません',
    pressAgain: (submit) =>
      `もう一度「${submit}」を押してください。二重に実行されることはありません。`,
    expired: '時間が経ちすぎたため安全に再送信できません。届いているかご確認ください。',
    busy: '変更は送信されていません。前回送信したものがまだ処理中です。',
    question: 'これも送信しますか？',
    edited:
      '前回の内容は届いている可能性があり、今回は内容が異なります。両方が実行されるおそれがあります。',
    twice:
      '前回の内容は届いている可能性があります。もう一度送信すると二重に実行されるおそれがあります。',
    confirm: '送信する',
    back: '送信しない',
  },
};
