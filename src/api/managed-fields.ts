/** Which program wrote some of an object's fields last. */
export interface ManagedFields {
  readonly manager?: string
  readonly apiVersion?: string
  readonly subresource?: string
  readonly time?: string
}
