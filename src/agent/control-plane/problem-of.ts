/** What went wrong, in words; being told to stop is not a problem but an end. */
export async function problemOf(work: () => Promise<void>, signal: AbortSignal): Promise<string | undefined> {
  try {
    await work()
    return undefined
  } catch (error) {
    if (signal.aborted) throw error
    return error instanceof Error ? error.message : String(error)
  }
}
