import { resolve } from 'node:path'
import { findSources, remediesFor, type ToolSource } from '../../adapters/control-plane/index.ts'
import { Failure } from '../../std/index.ts'
import { type ExitCode, exitCodes } from '../exit-codes.ts'
import { type OutputFormat, render, wrap } from '../output.ts'
import type { Shell } from '../shell.ts'
import { findKubectl, serverIn } from './cluster.ts'

/** Prints where the programs of a control plane would come from, and why. For a cluster that exists only kubectl is needed. */
export async function tellSources(
  shell: Shell,
  { kubeconfig, output = 'table' }: { kubeconfig?: string; output?: OutputFormat },
): Promise<ExitCode> {
  const { env, signal, print, say, paint } = shell
  const [cluster, sources] = kubeconfig
    ? [await clusterOf(resolve(shell.cwd, kubeconfig)), await sourcesOfKubectl(shell)]
    : [noCluster(shell), await findSources({ env, signal })]
  const columns = [
    { title: 'SOURCE', of: ({ from }: ToolSource) => from },
    {
      title: 'STATE',
      of: ({ state }: ToolSource) => state,
      paint: ({ state }: ToolSource, text: string) => (state === 'used' ? paint('green', text) : text),
    },
    { title: 'WHY', of: ({ why }: ToolSource) => why },
  ]
  print(render(output, [cluster, ...sources], columns))
  if (sources.some(({ state }) => state === 'used')) return exitCodes.ok
  const remedies = remediesFor({ env, ...(kubeconfig && { wanted: KUBECTL }) })
  say(`${['None of them has the programs.', ...remedies].flatMap((text) => wrap(text)).join('\n')}\n`)
  return exitCodes.unavailable
}

const KUBECTL = ['kubectl'] as const

const noCluster = ({ env }: Shell): ToolSource => ({
  from: '--kubeconfig',
  state: 'passed over',
  why: env.KUBECONFIG ? 'not given (KUBECONFIG is for berth tour)' : 'not given',
})

async function clusterOf(kubeconfig: string): Promise<ToolSource> {
  return { from: '--kubeconfig', state: 'used', why: `${kubeconfig} names ${await serverIn(kubeconfig)}` }
}

async function sourcesOfKubectl(shell: Shell): Promise<ToolSource[]> {
  const { env, signal } = shell
  const from = 'kubectl in PATH'
  try {
    return [{ from, state: 'used', why: await findKubectl(shell) }]
  } catch (thrown) {
    const { message: why } = Failure.from(thrown)
    return [{ from, state: 'passed over', why }, ...(await findSources({ env, signal, wanted: KUBECTL }))]
  }
}
