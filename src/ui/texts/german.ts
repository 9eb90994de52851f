import type { UiTexts } from './ui-texts.ts';

/** The texts of the components in German. */
export const german: UiTexts = {
  lang: 'de',
  sentence: (text) => `${text}.`,
  retryNow: 'Jetzt erneut versuchen',
  cancel: 'Abbrechen',
  nextAttemptIn: 'Nächster Versuch in',
  attempt: (attempt, of) =>
    of === undefined ? `Versuch ${attempt}.` : `Versuch ${attempt} von ${of}.`,
  time: {
    seconds: (count) => (count === 1 ? '1 Sekunde' : `${count} Sekunden`),
    minutes: (count) => `${count} Minuten`,
  },
  shortTime: { seconds: (count) => `${count} s`, minutes: (count) => `${count} min` },
  tryingAgainIn: (time) => `Neuer Versuch in ${time}.`,
  failures: {
    network: 'Keine Antwort vom Server',
    timeout: 'Der Server hat nicht rechtzeitig geantwortet',
    body: 'Die Antwort kam unvollständig an',
    'rate-limited': 'Der Server bittet um eine Pause',
    unavailable: 'Der Server ist gerade nicht verfügbar',
    'server-error': 'Auf dem Server ist ein Fehler aufgetreten',
    'not-ready': 'Der Server ist noch nicht bereit',
    refused: 'Der Server hat die Anfrage abgelehnt',
    'paused-too-long': 'Die Wartezeit war zu lang',
    error: 'Es ist ein Fehler aufgetreten',
  },
  pauses: {
    offline: 'Sie sind offline',
    'server-down': 'Das ist gerade nicht verfügbar',
    'rate-limited': 'Der Server bittet um eine Pause',
    queued: 'Wartet, bis es an der Reihe ist',
    hidden: 'Wartet, bis Sie zu diesem Tab wechseln',
  },
  goesOn: 'Es geht automatisch weiter.',
  otherTabProbes: 'Ein anderer Tab prüft, ob der Server wieder erreichbar ist.',
  cancelled: 'Abgebrochen',
  query: {
    label: 'Laden',
    again: 'Neuer Versuch läuft',
    succeeded: 'Geladen',
    failed: 'Das konnte nicht geladen werden',
    stale: 'Das ist vielleicht nicht aktuell',
  },
  mutation: {
    label: 'Senden',
    sending: 'Wird gesendet',
    again: 'Wird noch einmal gesendet',
    succeeded: 'Gesendet',
    failed: 'Das wurde nicht ausgeführt',
    unknown: 'Es ist unklar, ob das ausgeführt wurde',
    earlier: 'Ein früherer Versuch ist vielleicht angekommen',
  },
  connection: {
    offline: 'Sie sind offline',
    down: 'Der Server ist ausgefallen',
    'rate-limited': 'Der Server bittet um eine Pause',
    back: 'Wieder verbunden',
    missing: 'Manche Inhalte können gerade nicht geladen werden',
    stale: 'Manche Inhalte sind vielleicht nicht aktuell',
    restored: 'Es funktioniert wieder',
    checkNow: 'Jetzt prüfen',
    tryNow: 'Jetzt versuchen',
    nextCheckIn: 'Nächste Prüfung in',
    waiting: (count) => (count === 1 ? '1 Anfrage wartet.' : `${count} Anfragen warten.`),
  },
  outbox: {
    label: 'Postausgang',
    empty: 'Alles wurde gesendet.',
    waiting: (count) => `${count} zu senden`,
    dead: (count) => (count === 1 ? '1 Eintrag zu prüfen' : `${count} Einträge zu prüfen`),
    notKept:
      'Dieser Browser speichert zurzeit nichts: Lassen Sie die Seite offen, bis alles gesendet ist.',
    entry: (handler, time) => `${handler}, ${time}`,
    pending: 'Wartet auf den Versand',
    behind: 'Wird nach dem Eintrag davor gesendet',
    otherVersion: 'Eine andere Version dieser Seite sendet es',
    sending: 'Wird gesendet',
    done: 'Gesendet',
    deadTitle: 'Nicht gesendet',
    reasons: {
      refused: 'Der Server hat es abgelehnt.',
      'not-repeatable':
        'Es ist vielleicht angekommen. Wird es noch einmal gesendet, könnte es doppelt ausgeführt werden.',
      'answer-lost': 'Es wurde ausgeführt, aber die Antwort war nicht lesbar.',
      expired:
        'Es ist vielleicht angekommen, und es ist zu alt, um es ohne Risiko noch einmal zu senden.',
      'age-unknown':
        'Es ist vielleicht angekommen, und vielleicht zu alt, um es ohne Risiko noch einmal zu senden.',
      'cannot-find-out':
        'Es ist vielleicht angekommen, und der Server sagt es nicht. Wird es noch einmal gesendet, könnte es doppelt ausgeführt werden.',
      'max-attempts': 'Alle Versuche sind aufgebraucht.',
      'max-age': 'Es ist zu alt.',
      'handler-missing': 'Diese Version der Seite kann es nicht senden.',
      'not-migrated':
        'Eine frühere Version der Seite hat es geschrieben, und diese kann es nicht lesen.',
      unreadable: 'Es ist nicht mehr lesbar.',
    },
    mayBeDone:
      'Es wurde vielleicht schon ausgeführt: Mit anderem Inhalt könnte es doppelt ausgeführt werden.',
    sendNow: 'Jetzt senden',
    retry: 'Noch einmal senden',
    retryAll: 'Alle noch einmal senden',
    edit: 'Bearbeiten',
    discard: 'Verwerfen',
    discardForGood: 'Endgültig verwerfen',
    keep: 'Behalten',
    discarded: 'Verworfen.',
  },
  form: {
    submit: 'Senden',
    another: 'Noch etwas senden',
    succeeded: 'Gesendet',
    failed: (submit) => `Sie können noch einmal auf „${submit}“ drücken.`,
    unknown: 'Es ist unklar, ob das angekommen ist',
    unknownBefore: 'Es ist unklar, ob das angekommen ist, was Sie zuvor gesendet haben',
    pressAgain: (submit) =>
      `Drücken Sie noch einmal auf „${submit}“: Es wird nicht doppelt ausgeführt.`,
    expired:
      'Es ist zu alt, um es ohne Risiko noch einmal zu senden. Bitte prüfen Sie, ob es angekommen ist.',
    busy: 'Ihre Änderungen wurden nicht gesendet: Was Sie zuvor gesendet haben, ist noch unterwegs.',
    question: 'Das auch senden?',
    edited:
      'Was Sie zuvor gesendet haben, ist vielleicht angekommen, und das hier ist etwas anderes. Vielleicht wird beides ausgeführt.',
    twice:
      'Was Sie zuvor gesendet haben, ist vielleicht angekommen. Wenn Sie es noch einmal senden, wird es vielleicht doppelt ausgeführt.',
    confirm: 'Trotzdem senden',
    back: 'Nicht senden',
  },
};
