import type { Kube } from '../adapters/kube/index.ts'
import { DeploymentTargetClasses, labels, type WorkspaceClass, WorkspaceClasses } from '../api/index.ts'
import { isFailure } from '../std/index.ts'
import { type Child, type Html, html } from './html.ts'

/** What every host of a zone answers without a question, so that browsers find out how far away it is. */
export const PING = '/.berth/ping'

interface Region {
  /** Empty where nobody says. */
  name: string
  /** Where the way to it is measured; it is missing where nobody says which region it is, or its workspaces have no zone. */
  ping: string | undefined
  classes: WorkspaceClass[]
}

/** The classes that may be chosen, by the regions in which their workspaces are. */
export async function classChoice(kube: Kube, chosen: string): Promise<{ select: Html; pings: string[] }> {
  const classes = (await kube.list(WorkspaceClasses)).filter(({ spec }) => spec.enabled !== false)
  const regions = await regionsOf(kube, classes)
  const option = ({ metadata, spec }: WorkspaceClass) =>
    html`<option value="${metadata.name}"${metadata.name === chosen && html` selected`}>${metadata.name}${sizeOf(spec.defaultResourcesPerWorkspaceContainer?.limits)}</option>`
  const groups = regions.map(({ name, ping, classes: inIt }) =>
    name === ''
      ? html`${inIt.map(option)}`
      : html`<optgroup label="${name}"${ping !== undefined && html` data-ping="${ping}"`}>${inIt.map(option)}</optgroup>`,
  )
  return {
    select: html`<select id="class" name="class">${groups}</select>`,
    pings: regions.flatMap(({ ping }) => ping ?? []),
  }
}

/** Those that have no region come first: there a choice by distance means nothing. */
async function regionsOf(kube: Kube, classes: readonly WorkspaceClass[]): Promise<Region[]> {
  const ofTargets = await regionsOfTargets(kube, classes)
  const regions = new Map<string, Region>()
  for (const each of classes) {
    const { deploymentTargetClassName = '', dnsZone = '' } = each.spec
    const name = each.metadata.labels?.[labels.region] ?? ofTargets.get(deploymentTargetClassName) ?? ''
    const ping = name === '' || dnsZone === '' ? undefined : `https://ping.${dnsZone}${PING}`
    const known = regions.get(name) ?? { name, ping, classes: [] }
    regions.set(name, { ...known, ping: known.ping ?? ping, classes: [...known.classes, each] })
  }
  return [...regions.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** Whoever may not see how targets are made is not told where they are by that. */
async function regionsOfTargets(kube: Kube, classes: readonly WorkspaceClass[]): Promise<Map<string, string>> {
  const asks = classes.some(({ metadata, spec }) => !metadata.labels?.[labels.region] && spec.deploymentTargetClassName)
  if (!asks) return new Map()
  try {
    const found = await kube.list(DeploymentTargetClasses)
    return new Map(found.map(({ metadata }) => [metadata.name, metadata.labels?.[labels.region] ?? '']))
  } catch (thrown) {
    if (!isFailure(thrown, 'forbidden')) throw thrown
    return new Map()
  }
}

const sizeOf = (limits: { cpu?: number | string; memory?: number | string } | undefined): Child =>
  limits && `: cpu ${limits.cpu ?? 'any'}, memory ${limits.memory ?? 'any'} a container`
