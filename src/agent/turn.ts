/** One at a time, in the order of asking. */
export class Turn {
  #last: Promise<unknown> = Promise.resolve()

  take<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#last.then(work)
    // How it ended is the business of who asked; the next one only waits for the end.
    this.#last = mine.catch(() => undefined)
    return mine
  }
}
