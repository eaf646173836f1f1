// What a page costs and how soon it shows what happened, as the browser itself counts it.

import type { CDPSession } from 'playwright-core'
import type { NodePhase } from '../../src/api/node-state.ts'
import type { Browser } from '../bed/chromium.ts'
import type { ConsoleBed } from './console-server.ts'
import type { PageView } from './page-view.ts'

export class PageFigures {
  readonly #session: CDPSession
  readonly #view: PageView

  private constructor(session: CDPSession, view: PageView) {
    this.#session = session
    this.#view = view
  }

  static async of({ context }: Browser, view: PageView): Promise<PageFigures> {
    const session = await context.newCDPSession(view.page)
    await session.send('Performance.enable')
    return new PageFigures(session, view)
  }

  async heapMB(): Promise<number> {
    await this.#session.send('HeapProfiler.collectGarbage')
    return (await this.#metric('JSHeapUsedSize')) / 1e6
  }

  /** The part of a core that the page takes while nothing happens. */
  async idleRatio(seconds: number): Promise<number> {
    const before = await this.#metric('TaskDuration')
    await this.#view.page.waitForTimeout(seconds * 1000)
    return ((await this.#metric('TaskDuration')) - before) / seconds
  }

  /** Of the first node of the last list: each time from the write to its new colour, in milliseconds. */
  async changesToPixel(bed: ConsoleBed, phases: readonly NodePhase[]): Promise<readonly number[]> {
    const { page } = this.#view
    const list = page.getByRole('listbox').last()
    const place = (await list.getAttribute('data-cell')) ?? ''
    await list.focus()
    await page.keyboard.press('Home')
    const name = (await list.locator('[role=option]').getAttribute('data-active-node')) ?? ''
    const took: number[] = []
    for (const phase of phases) {
      const seen = page.evaluate<number>(whenPainted(place))
      await page.waitForTimeout(50)
      const from = Date.now()
      await bed.large?.setPhase(name, phase)
      took.push((await seen) - from)
    }
    return took
  }

  async #metric(name: string): Promise<number> {
    const { metrics } = await this.#session.send('Performance.getMetrics')
    return metrics.find((one) => one.name === name)?.value ?? Number.NaN
  }
}

/** When the first cell of the list has another colour. */
const whenPainted = (place: string) => `(() => {
  const canvas = document.querySelector('[data-cell="${place}"] canvas')
  const colour = () => canvas.getContext('2d').getImageData(1, 1, 1, 1).data.join()
  const before = colour()
  return new Promise((resolve) => {
    const look = () => (colour() === before ? requestAnimationFrame(look) : resolve(Date.now()))
    look()
  })
})()`
