import { isDeepStrictEqual } from 'node:util'
import type { Cache } from '../../adapters/kube/index.ts'
import { accessRules, isSameFile } from '../../agentcfg/index.ts'
import { type Agent, keyOf, type Ref, refOf } from '../../api/index.ts'
import type { ConfigurationFile } from '../../rpc/index.ts'
import { type Clock, Failure, hours, isFailure, type Log, pause, seconds } from '../../std/index.ts'
import { newsOf } from '../ports/news.ts'
import type { Admission, PollSighting, Polls, ProjectGate } from '../ports/ports.ts'
import { configurationOf, type Projects } from '../projects/project.ts'
import type { FindConfiguration } from './find.ts'

export interface RulesOptions {
  agents: Cache<Agent>
  projects: Projects
  gate: Pick<ProjectGate, 'admitAgent'>
  polls: Pick<Polls, 'follow'>
  findConfiguration: FindConfiguration
  clock: Clock
  log: Log
}

/** While the repository cannot be read, what was read last counts for so long. Milliseconds. */
const LAPSE = hours(1)
const AGAIN = seconds(5)

/** Follows the access rules of one agent: those of the last good file, as long as the agent may read the project that it is in. */
export class RulesReader {
  readonly #options: RulesOptions
  readonly #agent: Ref & { namespace: string }
  readonly #tell: () => void
  readonly #ending = new AbortController()
  readonly #done: Promise<void>
  #rules: ConfigurationFile | undefined
  /** Resolves when something has been read, or cannot be; another one when all has to be read anew. */
  #known = Promise.withResolvers<void>()
  #cancelTimer: (() => void) | undefined

  constructor(options: RulesOptions, agent: Agent, tell: () => void) {
    this.#options = options
    this.#agent = { ...refOf(agent), namespace: agent.metadata.namespace ?? '' }
    this.#tell = tell
    this.#done = this.#run()
  }

  get rules(): ConfigurationFile | undefined {
    return this.#rules
  }

  /** Waits until it is known what there is. */
  read(): Promise<void> {
    return this.#known.promise
  }

  async stop(): Promise<void> {
    this.#ending.abort()
    this.#cancelTimer?.()
    this.#known.resolve()
    await this.#done
  }

  async #run(): Promise<void> {
    const { clock, log } = this.#options
    while (!this.#ending.signal.aborted) {
      try {
        await this.#fromOneProject()
      } catch (thrown) {
        log.warn('The access rules of an agent could not be read', { agent: keyOf(this.#agent), error: Failure.from(thrown) })
        this.#doubt()
        await pause(clock, AGAIN, this.#ending.signal)
      }
    }
  }

  /** Until the Agent names another one, or this one is another than it was. Then nothing counts of what was read. */
  async #fromOneProject(): Promise<void> {
    const { agents, projects } = this.#options
    const wanted = configurationOf(agents.get(this.#agent))
    const { path } = wanted
    const changed = new AbortController()
    const forget = agents.onChangeOf(this.#agent, (now) => {
      if (now && !isDeepStrictEqual(configurationOf(now), wanted)) changed.abort()
    })
    const signal = AbortSignal.any([this.#ending.signal, changed.signal])
    // The Agent says as well which project it trusts.
    const sources = [
      (notify: () => void) => projects.onChangeAt(path, notify),
      (notify: () => void) => agents.onChangeOf(this.#agent, notify),
    ]
    const news = newsOf(sources, signal)
    try {
      const admission = this.#admitted(path)
      if (admission) await this.#follow(admission, signal)
      else {
        this.#know(undefined)
        await news.promise
        this.#readAnew()
      }
    } finally {
      news.close()
      forget()
    }
  }

  #admitted(path: string): Admission | undefined {
    try {
      return this.#options.gate.admitAgent(this.#agent, path)
    } catch (thrown) {
      if (isFailure(thrown, 'forbidden')) return undefined
      throw thrown
    }
  }

  async #follow(admission: Admission, signal: AbortSignal): Promise<void> {
    const { project } = admission
    const ended = AbortSignal.any([signal, admission.ended])
    ended.addEventListener('abort', () => this.#readAnew(), { once: true })
    const following = this.#options.polls.follow(project, { kind: 'default' }, admission)
    try {
      for (let seen = await following.next(undefined, ended); seen; seen = await following.next(seen, ended))
        await this.#hear(seen, project.path, ended)
    } catch (thrown) {
      if (!ended.aborted) throw thrown
    } finally {
      following.close()
      admission.close()
    }
  }

  async #hear(seen: PollSighting, path: string, signal: AbortSignal): Promise<void> {
    if ('empty' in seen) return this.#know(undefined)
    if ('failure' in seen) return this.#doubt()
    try {
      const { parsed } = await this.#options.findConfiguration(seen.snapshot, this.#agent, path, signal)
      if (signal.aborted) return
      // What was good last stays while there are mistakes.
      this.#know(parsed.configuration ? accessRules(parsed.configuration) : this.#rules)
    } catch (thrown) {
      // A commit that cannot be fetched comes again with the next poll.
      if (!signal.aborted) this.#doubt()
      this.#options.log.debug('A commit could not be read', { agent: keyOf(this.#agent), error: Failure.from(thrown) })
    }
  }

  #know(rules: ConfigurationFile | undefined): void {
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    const isSame = rules === this.#rules || (rules && this.#rules && isSameFile(rules, this.#rules))
    if (!isSame) this.#rules = rules
    this.#known.resolve()
    if (!isSame) this.#tell()
  }

  /** A Git server that is away takes nobody's right at once. */
  #doubt(): void {
    this.#known.resolve()
    this.#cancelTimer ??= this.#options.clock.after(LAPSE, () => this.#know(undefined))
  }

  /** Callers that ask meanwhile wait. */
  #readAnew(): void {
    if (this.#ending.signal.aborted) return
    const before = this.#known
    this.#known = Promise.withResolvers()
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    const had = this.#rules !== undefined
    this.#rules = undefined
    before.resolve()
    if (had) this.#tell()
  }
}
