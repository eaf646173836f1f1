// Colour, where the terminal has it and nobody said no.

import { styleText } from 'node:util'

export type Colour = 'green' | 'yellow' | 'red' | 'dim' | 'cyan' | 'bold'

export function coloured(text: string, colour: Colour | undefined, color: boolean): string {
  return color && colour && text !== '' ? styleText(colour, text, { validateStream: false }) : text
}
