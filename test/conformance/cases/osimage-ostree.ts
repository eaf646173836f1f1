import { imageCase } from '../image-case.ts'

export const conformanceCase = imageCase('ostree', 7)
