// What others wrote may hold characters that a terminal obeys: to clear it, to write over what stood there, to turn text round. They
// are shown instead. Nothing that comes from a cluster or a host reaches a terminal in another way.

import type { KubeObject } from '../api/kube.ts'
import type { KubeApi, WatchEvent } from '../ports/kube-api.ts'

/** Control characters but for line ends and tabs, and marks that change the direction of text. */
const commanding = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu
const hasCommanding = new RegExp(commanding, 'u')

export function printable(text: string): string {
  return text.replace(commanding, (character) =>
    character === '\n' || character === '\t' ? character : `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  )
}

/** The same of every text in a value; what holds none is handed on as it is. */
export function printableValue<T>(value: T): T {
  return cleaned(value) as T
}

function cleaned(value: unknown): unknown {
  if (typeof value === 'string') return hasCommanding.test(value) ? printable(value) : value
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    const items = value.map(cleaned)
    return items.some((item, index) => item !== value[index]) ? items : value
  }
  const before = Object.entries(value)
  const after = before.map(([key, item]) => [printable(key), cleaned(item)] as const)
  const isSame = after.every(([key, item], index) => key === before[index]?.[0] && item === before[index]?.[1])
  return isSame ? value : Object.fromEntries(after)
}

/** A cluster as it may be shown. */
export function printableApi(api: KubeApi): KubeApi {
  const shown = async <T extends KubeObject>(object: Promise<T>): Promise<T> => printableValue(await object)
  return {
    get: (type, ref, signal) => shown(api.get(type, ref, signal)),
    list: async (type, options, signal) => {
      const page = await api.list(type, options, signal)
      return { ...page, items: printableValue(page.items) }
    },
    watch: (type, options, onEvent, signal) =>
      api.watch(type, options, (event) => onEvent(printableEvent(event)), signal),
    create: (type, object, signal) => shown(api.create(type, object, signal)),
    replace: (type, object, signal, subResource) => shown(api.replace(type, object, signal, subResource)),
    patch: (type, ref, patch, signal, subResource) => shown(api.patch(type, ref, patch, signal, subResource)),
    delete: (type, ref, options, signal) => api.delete(type, ref, options, signal),
    evict: (pod, options, signal) => api.evict(pod, options, signal),
    serverVersion: async (signal) => printable(await api.serverVersion(signal)),
    readLines: (path, onLine, signal) => api.readLines(path, (line) => onLine(printable(line)), signal),
  }
}

function printableEvent<T>(event: WatchEvent<T>): WatchEvent<T> {
  return event.type === 'BOOKMARK' ? event : { ...event, object: printableValue(event.object) }
}
