// What becomes of another tool's settings: objects of ours, and a word on everything that is not the same here.

export const remarkKinds = ['ToFillIn', 'NoEquivalent', 'Unread', 'Differs', 'NotNeeded'] as const

/**
 * ToFillIn: a value that only a person can give. NoEquivalent: what to do instead. Unread: not understood, so nothing was made of it.
 * Differs: carried over, and behaves otherwise. NotNeeded: carried over by doing nothing.
 */
export interface Remark {
  readonly kind: (typeof remarkKinds)[number]
  /** The flag or field as it was written. */
  readonly what: string
  readonly text: string
}

export interface ImportedObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string }
  readonly spec?: object
  readonly data?: Readonly<Record<string, string>>
}

export interface Imported {
  readonly objects: readonly ImportedObject[]
  readonly remarks: readonly Remark[]
}
