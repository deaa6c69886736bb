/** Keeps the beginning and the end of what comes, and counts what was between: a program may write without end. */
export function createClipped(most: number) {
  const ofHead = Math.floor(most / 4)
  const head: Buffer[] = []
  const tail: Buffer[] = []
  let inHead = 0
  let inTail = 0
  let all = 0
  return {
    add(bytes: Buffer): void {
      all += bytes.length
      const first = bytes.subarray(0, ofHead - inHead)
      if (first.length > 0) head.push(Buffer.from(first))
      inHead += first.length
      const rest = bytes.subarray(first.length)
      if (rest.length === 0) return
      tail.push(Buffer.from(rest))
      inTail += rest.length
      while (inTail - (tail[0]?.length ?? 0) >= most - ofHead) inTail -= tail.shift()?.length ?? 0
    },
    /** All bytes that came. */
    size: () => all,
    isCut: () => all > most,
    bytes: () => Buffer.concat([...head, ...tail]),
    text(): string {
      const end = Buffer.concat(tail).subarray(-(most - ofHead))
      const left = all - inHead - end.length
      if (left === 0) return Buffer.concat([...head, ...tail]).toString('utf8')
      return `${Buffer.concat(head).toString('utf8')}\n[... ${left} bytes are left out here ...]\n${end.toString('utf8')}`
    },
  }
}
