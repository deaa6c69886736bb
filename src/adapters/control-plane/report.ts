/** How the person who waits is told. The room says what happens; the command line decides how that looks. */
export interface Report {
  /** A finished sentence. */
  line(text: string): void
  /** Where a long work stands. The total is counted, not guessed; it may be reached early when caches help. */
  progress(step: { what: string; done: number; total: number }): void
}

export const silentReport: Report = { line: () => undefined, progress: () => undefined }
