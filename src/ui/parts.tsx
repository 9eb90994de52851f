import {
  createContext,
  type ReactElement,
  type ReactNode,
  type RefObject,
  useCallback,
  useContext,
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import { systemClock } from '../core/lib/clock.ts';
import { useCountdown } from '../core/react/use-countdown.ts';
import { useTexts } from './texts/texts.tsx';
import { type StatusWords, timeOf } from './texts/words.ts';

/** Moves the focus when a focused button disappears. */
const Home = createContext<() => void>(() => {});

/** The frame of a component. It is always rendered: a live region must exist before it has text. */
export function Frame({
  className,
  label,
  state,
  children,
}: {
  /** The whole name as a literal: tools such as PurgeCSS drop the styles of names that they do not find in the code. */
  readonly className: string;
  readonly label?: string | undefined;
  readonly state: string;
  readonly children: ReactNode;
}): ReactElement {
  const ref = useRef<HTMLDivElement>(null);
  const goHome = useCallback(() => ref.current?.focus(), []);
  return (
    <div
      ref={ref}
      className={`steadfetch ${className}`}
      data-state={state}
      role={label === undefined ? undefined : 'group'}
      aria-label={label}
      tabIndex={-1}
    >
      <Home.Provider value={goHome}>{children}</Home.Provider>
    </div>
  );
}

/** Moves the focus to the frame when the focused element is removed. */
function useHandover<T extends HTMLElement>(): RefObject<T | null> {
  const ref = useRef<T>(null);
  const goHome = useContext(Home);
  useLayoutEffect(() => {
    const element = ref.current;
    return () => {
      if (element?.contains(element.ownerDocument.activeElement)) goHome();
    };
  }, [goHome]);
  return ref;
}

/**
 * A list item. When a focused element in it is removed, the focus stays at this item instead of the start of
 * the list.
 */
export function Item({
  state,
  labelledBy,
  children,
}: {
  readonly state: string;
  readonly labelledBy: string;
  readonly children: ReactNode;
}): ReactElement {
  const ref = useHandover<HTMLLIElement>();
  const goHome = useCallback(() => ref.current?.focus(), [ref]);
  return (
    <li
      ref={ref}
      className="steadfetch-entry"
      data-state={state}
      aria-labelledby={labelledBy}
      tabIndex={-1}
    >
      <Home.Provider value={goHome}>{children}</Home.Provider>
    </li>
  );
}

/** A group that a press has opened. Escape closes it without a change. */
export function Group({
  className,
  label,
  onEscape,
  children,
}: {
  readonly className: string;
  readonly label: string;
  readonly onEscape?: () => void;
  readonly children: ReactNode;
}): ReactElement {
  const ref = useHandover<HTMLDivElement>();
  return (
    <div
      ref={ref}
      className={className}
      role="group"
      aria-label={label}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || !onEscape) return;
        // A dialog around it must stay open.
        event.preventDefault();
        event.stopPropagation();
        onEscape();
      }}
    >
      {children}
    </div>
  );
}

/**
 * Takes what is for a screen reader out of sight. Not by the stylesheet, which is optional, and does not reach a shadow
 * root. Not absolute, which lengthens the page around a panel that scrolls. No `style` in the HTML of a server, which a
 * Content Security Policy may forbid.
 */
function hide(element: HTMLElement | null): void {
  if (element)
    element.style.cssText =
      'position:fixed;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap';
}

/** A button that moves the focus when it is removed, and stays focusable while it does nothing. */
export function Action({
  onPress,
  isPrimary,
  isIdle = false,
  isFirst = false,
  label,
  describes,
}: {
  readonly onPress: () => unknown;
  readonly isPrimary?: boolean;
  readonly isIdle?: boolean;
  /** Takes the focus when it appears, as the answer to a press. */
  readonly isFirst?: boolean;
  readonly label: string;
  /** The subject of the button, for users who cannot see its place. */
  readonly describes?: string;
}): ReactElement {
  const ref = useHandover<HTMLButtonElement>();
  useLayoutEffect(() => {
    if (isFirst) ref.current?.focus();
  }, [ref, isFirst]);
  return (
    <button
      ref={ref}
      type="button"
      className="steadfetch-button"
      data-primary={isPrimary || undefined}
      aria-disabled={isIdle || undefined}
      onClick={() => {
        if (!isIdle) void onPress();
      }}
    >
      {label}
      {describes && ' '}
      {describes && (
        <span ref={hide} className="steadfetch-told">
          {describes}
        </span>
      )}
    </button>
  );
}

type Act = (() => unknown) | undefined;

/** Whether a press started the current attempt, and a function that makes an action one of a press. */
export function usePress(
  isUnderWay: boolean,
): readonly [isPressed: boolean, pressing: <A extends Act>(act: A) => A | (() => void)] {
  const [isPressed, setIsPressed] = useState(false);
  useEffect(() => (isUnderWay ? () => setIsPressed(false) : undefined), [isUnderWay]);
  const pressing = <A extends Act>(act: A): A | (() => void) =>
    act &&
    (() => {
      setIsPressed(true);
      act();
    });
  return [isPressed, pressing];
}

interface WordsProps extends StatusWords, CountdownProps {
  readonly onRetry?: (() => unknown) | undefined;
  readonly onCancel?: (() => unknown) | undefined;
  /** True while a retry is under way, so that the button does nothing. */
  readonly isIdle?: boolean;
  readonly children?: ReactNode;
}

/** The text about an operation, the time to its next attempt, and the buttons that control it. */
export function Words(props: WordsProps): ReactElement {
  const { title, detail, onRetry, onCancel, isIdle = false, children } = props;
  const texts = useTexts();
  return (
    <>
      {title && <p className="steadfetch-title">{title}</p>}
      {detail && <p className="steadfetch-detail">{detail}</p>}
      <Countdown {...props} />
      {(children || onRetry || onCancel) && (
        <div className="steadfetch-actions">
          {children}
          {onRetry && <Action label={texts.retryNow} onPress={onRetry} isPrimary isIdle={isIdle} />}
          {onCancel && <Action label={texts.cancel} onPress={onCancel} />}
        </div>
      )}
    </>
  );
}

/**
 * The news to announce about an operation: an attempt that starts automatically is not news, an attempt after
 * a press is.
 */
export function useNews(news: News, isByItself: boolean): News {
  const [known, setKnown] = useState(news);
  const isNew = news.text !== known.text || news.isAlert !== known.isAlert;
  if (!isByItself && isNew) setKnown(news);
  return isByItself ? known : news;
}

/** The text to announce, and whether to interrupt. */
interface News {
  readonly text: string;
  readonly isAlert: boolean;
}

/** An outage shows in many components at once, and one that says it is enough. */
const sameMs = 1000;

/** The latest announcements of the page, by text: by which region, and when. */
const announced = new Map<string, { readonly by: object; readonly at: number }>();

/** Whether another region of the page has just said this. Otherwise this one does. */
function isSaid(text: string, by: object): boolean {
  const now = systemClock.now();
  for (const [said, { at }] of announced) if (Math.abs(now - at) >= sameMs) announced.delete(said);
  const other = announced.get(text);
  if (other && other.by !== by) return true;
  announced.set(text, { by, at: now });
  return false;
}

/**
 * Announces changes only. It is empty at first, even if the page was loaded with a text, and stays so for a text that
 * another one has just announced.
 */
export function Announcement({
  text,
  isAlert = false,
}: {
  readonly text: string;
  readonly isAlert?: boolean;
}): ReactElement {
  const polite = useRef<HTMLSpanElement>(null);
  const alert = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    const news = text && isSaid(text, polite) ? '' : text;
    for (const { current } of [polite, alert]) {
      hide(current);
      if (current) current.textContent = isAlert === (current === alert.current) ? news : '';
    }
  }, [text, isAlert]);
  useEffect(
    () => () => {
      for (const [said, { by }] of announced) if (by === polite) announced.delete(said);
    },
    [],
  );
  return (
    <>
      <span ref={polite} className="steadfetch-told" role="status" aria-live="polite" aria-atomic />
      <span ref={alert} className="steadfetch-told" role="alert" aria-atomic />
    </>
  );
}

interface CountdownProps {
  readonly retryAt?: number | undefined;
  /** @default the time to the next attempt */
  readonly label?: string | undefined;
}

/** The time left until `retryAt`. It ticks outside any live region. */
export function Countdown({ retryAt, label }: CountdownProps): ReactElement | null {
  const id = useId();
  const texts = useTexts();
  const seconds = useCountdown(retryAt);
  if (seconds === undefined) return null;
  return (
    <p className="steadfetch-countdown">
      <span id={id}>{label ?? texts.nextAttemptIn}</span>{' '}
      <span role="timer" aria-labelledby={id}>
        {timeOf(seconds, texts.shortTime)}
      </span>
    </p>
  );
}
