import { Failure } from '../../std/index.ts'
import type { Shell } from '../shell.ts'

/** Before something is removed or lost: nobody who types the name of the server takes one cluster for another. Throws `invalid` without it. */
export async function confirm(shell: Pick<Shell, 'ask'>, server: string): Promise<void> {
  const { host } = new URL(server)
  const answer = await shell.ask(`\nType ${host} to go on: `)
  if (answer?.trim() === host) return
  const why = answer === undefined ? 'there is no terminal to ask at' : `"${answer}" is not ${host}`
  throw new Failure('invalid', `nothing was changed: ${why}`, { remedy: `Type ${host}, or give --yes.` })
}
