/** Does the work with each of these, `atOnce` at a time, in their order. */
export async function inParallel<T>(things: readonly T[], atOnce: number, work: (thing: T) => Promise<unknown>): Promise<void> {
  const rest = things.values()
  const worker = async () => {
    for (const thing of rest) await work(thing)
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
}
