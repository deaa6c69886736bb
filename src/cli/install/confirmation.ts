import { Failure } from '../../std/index.ts'
import { DECLINED } from '../exit-codes.ts'
import type { Shell } from '../shell.ts'

/** Before something is removed or lost: nobody who types the name of the server takes one cluster for another. Fails otherwise. */
export async function confirm(shell: Pick<Shell, 'ask'>, server: string): Promise<void> {
  const { host } = new URL(server)
  const answer = await shell.ask(`\nType ${host} to go on: `)
  if (answer?.trim() === host) return
  const remedy = `Type ${host}, or give --yes.`
  if (answer === undefined) throw new Failure('invalid', 'nothing was changed: there is no terminal to ask at', { remedy })
  throw new Failure('cancelled', `nothing was changed: "${answer}" is not ${host}`, { reason: DECLINED, remedy })
}
