import { imageCase } from '../image-case.ts'

export const conformanceCase = imageCase('bootc', 6)
