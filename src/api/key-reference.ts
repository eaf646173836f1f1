import { z } from 'zod'
import { objectName, shapedText } from './scalars.ts'

/** A value of a Secret or ConfigMap in the operator's namespace. */
export const keyReference = z.strictObject({
  name: objectName,
  key: shapedText(253, '[-._a-zA-Z0-9]+', 'must be a key such as token'),
})

export type KeyReference = z.infer<typeof keyReference>
