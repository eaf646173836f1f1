import { imageCase } from '../image-case.ts'

export const conformanceCase = imageCase('bootc', { minor: 6, seed: 2 })
