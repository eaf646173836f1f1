import { imageCase } from '../image-case.ts'

export const conformanceCase = imageCase('rpm-ostree', 5)
