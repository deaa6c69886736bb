import { spawn } from 'node:child_process'

/** Of util-linux and of busybox alike. */
const UNSHARE = ['/usr/bin/unshare', '/bin/unshare']
/** A network of its own, in which there is nothing, not even a loopback that is up; whoever is not root may make one as its own user. */
const APART = ['-U', '-n', '--']

/**
 * The words to put before a command that is to have no network: it stays the same process. None where the machine has no such
 * thing (it is Linux') or does not let us, as many containers do not.
 */
export async function wordsForNoNetwork(programs: readonly string[] = UNSHARE): Promise<readonly string[]> {
  for (const program of programs) if (await succeeds(program, [...APART, 'true'])) return [program, ...APART]
  return []
}

function succeeds(program: string, words: readonly string[]): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  spawn(program, words, { stdio: 'ignore' })
    .on('error', () => resolve(false))
    .on('close', (code) => resolve(code === 0))
  return promise
}
