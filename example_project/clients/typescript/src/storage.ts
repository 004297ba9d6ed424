/**
 * Where a client keeps its tokens between requests.
 *
 * Items are `session` (the tokens; with cookies a mark that changes with each refresh), `device`
 * (the token of a known device, which outlives a logout) and `csrf`.
 */
export type Item = "session" | "device" | "csrf";

/** A custom storage, such as the key chain of a phone, implements this interface. */
export interface AuthStorage {
  get(item: Item): string | null | Promise<string | null>;
  set(item: Item, value: string | null): void | Promise<void>;
  /** Call `changed` when another tab changes an item. Returns a function that ends this. */
  watch?(changed: (item: Item) => void): () => void;
}

/** Tokens are lost when the page is left, and no other tab has them. */
export function memoryStorage(): AuthStorage {
  const items = new Map<Item, string>();
  return {
    get: (item) => items.get(item) ?? null,
    set(item, value) {
      if (value === null) items.delete(item);
      else items.set(item, value);
    },
  };
}

/**
 * Tokens stay after the page is left. With `localStorage` all tabs share one session; with
 * `sessionStorage` each tab has its own. Every script of the origin can read them.
 */
export function webStorage(area: Storage = localStorage, prefix = "authservice:"): AuthStorage {
  return {
    get: (item) => area.getItem(prefix + item),
    set(item, value) {
      if (value === null) area.removeItem(prefix + item);
      else area.setItem(prefix + item, value);
    },
    watch(changed) {
      // Browsers send this event to every tab but the one that made the change.
      const receive = (event: StorageEvent): void => {
        if (event.storageArea !== area || !event.key?.startsWith(prefix)) return;
        changed(event.key.slice(prefix.length) as Item);
      };
      addEventListener("storage", receive);
      return () => removeEventListener("storage", receive);
    },
  };
}
