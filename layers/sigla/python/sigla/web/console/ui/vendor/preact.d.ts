/* What the console uses of preact.js, for the checker of types. It is not served. */

type Setter<T> = (next: T | ((before: T) => T)) => void;

export function html(strings: TemplateStringsArray, ...values: any[]): any;
export function render(what: any, into: Element): void;
export function useState<T>(first: T): [T, Setter<T>];
export function useEffect(run: () => void | (() => void), inputs?: unknown[]): void;
export function useLayoutEffect(run: () => void | (() => void), inputs?: unknown[]): void;
export function useMemo<T>(make: () => T, inputs: unknown[]): T;
export function useRef<T>(first: T): { current: T };
export function useErrorBoundary(): [Error | undefined, () => void];
