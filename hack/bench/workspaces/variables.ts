import { type CoreSecret, labels, Secrets, type WorkspaceSpec } from '../../../src/api/index.ts'
import { print } from '../figures.ts'
import { footprintOf, until } from '../waiting.ts'
import { createAll, inState, numbered, type Setup, SHARED, workspaceOf } from './setup.ts'

const EACH = 20

/** Twenty variables in each workspace, half of them its own and half of them inherited, frozen for all at once. */
export async function variables(setup: Setup, count: number): Promise<void> {
  const { user, workspaces } = setup
  const operator = await setup.startOperator()
  await user.create(Secrets, inherited())
  const frozen = setup.caches.of(Secrets, { namespace: SHARED, labels: labels.workspaceUid, metadataOnly: true })
  await setup.caches.ready()
  let first = 0
  let last = 0
  frozen.onChange(() => {
    last = performance.now()
    first ||= last
  })
  const began = performance.now()
  await createAll(
    setup,
    Array.from({ length: count }, (_, n) => workspaceOf(SHARED, numbered('web', n), { variables: own() })),
  )
  const created = performance.now()
  await until(frozen, () => frozen.size === count, `the variables of ${count} workspaces are frozen`)
  print(`${EACH} variables x ${count} workspaces`, {
    'from the first wish s': (last - began) / 1000,
    'from the last wish s': Math.max(last - created, 0) / 1000,
    'from the first Secret s': (last - first) / 1000,
    ...(await footprintOf([operator])),
  })
  await until(workspaces, () => inState(workspaces, 'Running') === count, 'all run')
}

const own = (): NonNullable<WorkspaceSpec['variables']> =>
  Array.from({ length: EACH / 2 }, (_, n) => ({ name: `OWN_${n}`, value: `value ${n}` }))

const inherited = (): CoreSecret => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'group', namespace: SHARED, labels: { [labels.variablesLevel]: 'group' } },
  stringData: Object.fromEntries(Array.from({ length: EACH / 2 }, (_, n) => [`INHERITED_${n}`, `value ${n}`])),
})
