import { sidebar } from './sidebar.ts';

/** The theme's texts in Japanese. */
export const japanese = {
  label: '日本語',
  lang: 'ja',
  themeConfig: {
    sidebar: [{ text: '日本語', items: [{ text: '入門', link: '/ja/index.html' }] }, ...sidebar],
    nav: [
      { text: '英語のドキュメント', link: '/index.html' },
      { text: 'デモ', link: '/../index.html', target: '_self' },
      { text: 'npm', link: 'https://www.npmjs.com/package/steadfetch' },
    ],
    outline: { level: [2, 3] as [number, number], label: '目次' },
    docFooter: { prev: '前のページ', next: '次のページ' },
    darkModeSwitchLabel: '配色',
    sidebarMenuLabel: 'メニュー',
    returnToTopLabel: 'ページの先頭へ',
    langMenuLabel: '言語を選ぶ',
    skipToContentLabel: '本文へ移動',
  },
};

export const japaneseSearch = {
  translations: {
    button: { buttonText: '検索', buttonAriaLabel: '検索' },
    modal: {
      displayDetails: '詳細を表示',
      resetButtonTitle: '検索語を消す',
      backButtonTitle: '検索を閉じる',
      noResultsText: '見つかりませんでした',
      footer: { selectText: '選択', navigateText: '移動', closeText: '閉じる' },
    },
  },
};
