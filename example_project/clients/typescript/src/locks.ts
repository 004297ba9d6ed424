/** Runs one task at a time under a name, over all tabs of an origin where browsers support it. */

/** `wrote` says whether the task changed the storage. */
export interface Done<Value> {
  value: Value;
  wrote: boolean;
}

// In milliseconds. A process of the browser sees what another wrote to `localStorage` a moment
// later, so the lock is held for that moment.
const SPREAD = 50;
const running = new Map<string, Promise<unknown>>();

/**
 * Whether tabs wait for each other. The Web Locks API is absent in Node before version 24, and in
 * pages without https other than localhost: there, only clients of one page or process wait.
 */
export function tabsWait(): boolean {
  return typeof navigator !== "undefined" && navigator.locks !== undefined;
}

export function alone<Value>(name: string, task: () => Promise<Done<Value>>): Promise<Value> {
  return tabsWait() ? amongTabs(name, task) : inThisPage(name, task);
}

export function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

function amongTabs<Value>(name: string, task: () => Promise<Done<Value>>): Promise<Value> {
  return new Promise((resolve, reject) => {
    const holding = navigator.locks.request(name, async () => {
      const { value, wrote } = await task();
      resolve(value);
      if (wrote) await pause(SPREAD);
    });
    holding.catch(reject);
  });
}

async function inThisPage<Value>(name: string, task: () => Promise<Done<Value>>): Promise<Value> {
  const before = running.get(name) ?? Promise.resolve();
  const mine = before.catch(() => undefined).then(task);
  running.set(name, mine);
  try {
    return (await mine).value;
  } finally {
    if (running.get(name) === mine) running.delete(name);
  }
}
