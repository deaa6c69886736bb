/** Waits until all have ended, then fails with the first failure: nothing goes on writing behind the back of the next try. */
export async function settleAll(work: Promise<void>[]): Promise<void> {
  const results = await Promise.allSettled(work)
  for (const result of results) if (result.status === 'rejected') throw result.reason
}
