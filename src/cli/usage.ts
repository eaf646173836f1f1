// Values of options, refused at the door with the name of the option and an example.

import { InvalidArgumentError } from 'commander'
import { countOrPercent } from '../api/scalars.ts'

export function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const number = Number(text)
    if (/^\d+$/.test(text) && number >= least && number <= most) return number
    throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`)
  }
}

/** Of an invented cluster whose pods must have somewhere to go. */
export function nodesWithPods(most: number): (text: string) => number {
  return (text) => {
    if (/^[12]$/.test(text)) {
      throw new InvalidArgumentError('A pod that leaves a worker needs another to go to: give at least 3 nodes.')
    }
    return wholeNumber(3, most)(text)
  }
}

export function positiveNumber(text: string): number {
  const number = Number(text)
  if (number > 0) return number
  throw new InvalidArgumentError('It must be a number above 0.')
}

export function nodeCount(text: string): number | string {
  const parsed = countOrPercent.safeParse(/^\d+$/.test(text) ? Number(text) : text)
  if (parsed.success) return parsed.data
  throw new InvalidArgumentError('It must be a number of nodes (at least 1) or a percentage such as 10%.')
}

/** `1,10%,100%` */
export function waveSizes(text: string): readonly (number | string)[] {
  return text.split(',').map((size) => nodeCount(size.trim()))
}

/** As much of a schema of the API as is needed to judge a text. */
interface Schema {
  safeParse(value: unknown): { readonly success: boolean }
}

/** Text that a schema of the API accepts; the hint says how it looks. */
export function textOf(schema: Schema, hint: string): (text: string) => string {
  return (text) => {
    if (schema.safeParse(text).success) return text
    throw new InvalidArgumentError(hint)
  }
}
