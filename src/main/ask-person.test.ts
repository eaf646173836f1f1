import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { expect, it } from 'vitest'
import { askPerson } from './ask-person.ts'

/** A terminal of its own, and somebody at it who answers. */
function asked(answer: (input: PassThrough, stop: AbortController) => void) {
  const [input, output] = [new PassThrough(), Object.assign(new PassThrough(), { isTTY: true, columns: 80 })]
  const stop = new AbortController()
  const shown = text(output)
  const said = askPerson('Go on? ', { input, output, stop }).finally(() => output.end())
  output.once('data', () => answer(input, stop))
  return { said, shown, stop }
}

it.each([
  ['yes\n', true],
  ['no\n', false],
  ['\n', false],
])('%j is taken for %s', async (typed, isYes) => {
  expect(await asked((input) => input.write(typed)).said).toBe(isYes)
})

it('an input that ends is no yes', async () => {
  expect(await asked((input) => input.end()).said).toBe(false)
})

it.each([
  ['Ctrl-C', (input: PassThrough) => void input.write('\u0003')],
  ['a signal', (_input: PassThrough, stop: AbortController) => stop.abort()],
])('%s ends the question, and stops the command', async (_what, answer) => {
  const { said, shown, stop } = asked(answer)
  await expect(said).rejects.toThrow()
  expect(stop.signal.aborted).toBe(true)
  expect(await shown).toContain('\r\nstopped; nothing was changed\n')
})
