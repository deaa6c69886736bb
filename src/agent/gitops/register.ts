import type { Kube } from '../../adapters/kube/index.ts'
import { type ConfigMap, ConfigMaps, typeMetaOf } from '../../api/index.ts'
import { Failure, isFailure, isRecord, recordIn } from '../../std/index.ts'

/** The place of an inventory of a project. */
export interface InventoryPlace {
  readonly namespace: string
  /** Of agentk's ConfigMap. */
  readonly name: string
  readonly inventoryId: string
}

/** A project that this agent has ever applied something of, and that is not gone yet. */
export interface RegisteredProject {
  /** The number that kas gave the project; the mark of its objects follows from it. */
  readonly number: bigint
  /** Path of the project. */
  readonly id: string
  /** Says whether its objects stay when it leaves the configuration, or are deleted. */
  readonly deletion: string
  readonly places: readonly InventoryPlace[]
}

/**
 * The memory of an agent for its projects: a ConfigMap in the namespace of its pods, where nobody writes but who is the agent
 * anyway. Tenants write beside the objects: whose an inventory is and what becomes of its objects is never read there.
 */
export interface Register {
  read(): Promise<readonly RegisteredProject[]>
  /**
   * Writes down what `change` makes of what stands there, and answers it; `undefined` strikes the project out. Fails with `conflict`
   * when another one wrote meanwhile.
   */
  revise(
    number: bigint,
    change: (before: RegisteredProject | undefined) => Omit<RegisteredProject, 'number'> | undefined,
  ): Promise<RegisteredProject | undefined>
}

const MANAGER = 'berth-agent'
const NAME = /^agent-(\d{1,20})-projects$/

/** The numbers of the agents whose registers are among these. */
export const registersIn = (maps: readonly ConfigMap[]): bigint[] =>
  maps.flatMap(({ metadata: { name } }) => NAME.exec(name)?.[1] ?? []).map(BigInt)

export function createRegister({ kube, home, agentId }: { kube: Kube; home: string; agentId: bigint }): Register {
  const ref = { name: `agent-${agentId}-projects`, namespace: home }
  let loaded: ConfigMap | undefined
  let turn: Promise<unknown> = Promise.resolve()
  /** One after another: the workers of all projects write into the one ConfigMap. */
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const next = turn.then(work, work)
    turn = next
    return next
  }
  const current = async (): Promise<ConfigMap | undefined> => {
    try {
      loaded ??= await kube.get(ConfigMaps, ref)
    } catch (thrown) {
      throw explained(thrown, ref)
    }
    return loaded
  }
  const write = async (key: string, line: string | null): Promise<void> => {
    const before = await current()
    if ((before?.data?.[key] ?? null) === line) return
    const { resourceVersion } = before?.metadata ?? {}
    try {
      loaded = before
        ? await kube.patch(ConfigMaps, ref, { metadata: { resourceVersion }, data: { [key]: line } }, { manager: MANAGER })
        : await kube.create(
            ConfigMaps,
            { ...typeMetaOf(ConfigMaps), metadata: ref, data: { [key]: line ?? '' } },
            { manager: MANAGER },
          )
    } catch (thrown) {
      loaded = undefined
      throw explained(thrown, ref)
    }
  }
  return {
    read: () => inTurn(async () => registeredIn(await current())),
    revise: (number, change) =>
      inTurn(async () => {
        const now = change(registeredIn(await current()).find((one) => one.number === number))
        await write(String(number), now ? lineOf(now) : null)
        return now && { ...now, number }
      }),
  }
}

const registeredIn = (map: ConfigMap | undefined): RegisteredProject[] => Object.entries(map?.data ?? {}).flatMap(registeredOf)

/** In one order, so that what is the same looks the same. */
const lineOf = ({ id, deletion, places }: Omit<RegisteredProject, 'number'>): string =>
  JSON.stringify({ id, deletion, places: places.map(({ namespace, name, inventoryId }) => ({ namespace, name, inventoryId })) })

/** A damaged line is as if it were not there: nothing is deleted then. */
function registeredOf([key, line]: [string, string]): RegisteredProject[] {
  const told = recordIn(line)
  if (!(/^-?\d{1,20}$/.test(key) && Array.isArray(told?.places))) return []
  const { id, deletion } = told
  const places = told.places.flatMap(placeOf)
  return typeof id === 'string' && typeof deletion === 'string' ? [{ number: BigInt(key), id, deletion, places }] : []
}

function placeOf(told: unknown): InventoryPlace[] {
  if (!isRecord(told)) return []
  const { namespace, name, inventoryId } = told
  return typeof namespace === 'string' && typeof name === 'string' && typeof inventoryId === 'string'
    ? [{ namespace, name, inventoryId }]
    : []
}

const explained = (thrown: unknown, { name, namespace }: { name: string; namespace: string }): unknown =>
  isFailure(thrown, 'forbidden')
    ? new Failure(
        'forbidden',
        `ConfigMap ${namespace}/${name} may not be read or written: the agent would forget what it applied`,
        {
          reason: 'RegisterForbidden',
          remedy: `Let it get, create and patch ConfigMaps in namespace ${namespace}, as deploy/agent/program/leader-election.yaml does.`,
          cause: thrown,
        },
      )
    : thrown
