/** Starts counting. Milliseconds of CPU of this process until asked: unlike time, they do not grow when others use the machine. */
export function effort(): () => number {
  const before = process.cpuUsage()
  return () => process.cpuUsage(before).user / 1000
}
