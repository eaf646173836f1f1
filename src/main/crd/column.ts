// The columns that `kubectl get` shows of a kind.

export interface Column {
  readonly name: string
  readonly type: 'string' | 'integer' | 'boolean' | 'date'
  readonly jsonPath: string
  /** 0 is always shown, 1 with `-o wide`. */
  readonly priority?: number
}

const columnOf =
  (type: Column['type']) =>
  (name: string, jsonPath: string): Column => ({ name, type, jsonPath })

export const text = columnOf('string')
export const count = columnOf('integer')
export const flag = columnOf('boolean')
export const date = columnOf('date')
export const wide = (column: Column): Column => ({ ...column, priority: 1 })
export const age = date('Age', '.metadata.creationTimestamp')
