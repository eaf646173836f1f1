import { imageCase } from '../image-case.ts'

export const conformanceCase = imageCase('rpm-ostree', { minor: 5, seed: 1 })
