import { imageCase } from '../image-case.ts'

export const conformanceCase = imageCase('ostree', { minor: 7, seed: 3 })
