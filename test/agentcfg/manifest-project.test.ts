import { create } from '@bufbuild/protobuf'
import * as assert from 'uvu/assert'
import { manifestProjects } from '../../src/agentcfg/index.ts'
import { AgentConfigurationSchema } from '../../src/rpc/index.ts'
import { Failure } from '../../src/std/index.ts'
import type { ConfigurationInit } from '../agent/foreign-kas.ts'
import { describe } from '../support/suite.ts'

const projectsOf = (gitops: NonNullable<ConfigurationInit['gitops']>) =>
  manifestProjects(create(AgentConfigurationSchema, { agentId: 1n, projectPath: 'team/config', gitops }))

const mistakeIn = (gitops: NonNullable<ConfigurationInit['gitops']>): string => {
  try {
    projectsOf(gitops)
  } catch (thrown) {
    return Failure.from(thrown).message
  }
  return ''
}

describe('the manifest projects of a configuration', (it) => {
  it('have the defaults of agentk', () => {
    const [project] = projectsOf({ manifestProjects: [{}] })
    assert.equal(project, {
      id: 'team/config',
      ref: { kind: 'default' },
      defaultNamespace: 'default',
      globs: ['**/*.{yaml,yml,json}'],
      kustomize: [],
      charts: [],
      prune: true,
      propagation: 'Foreground',
      inventoryPolicy: 'must_match',
      dryRun: 'none',
      reconcileTimeout: 3_600_000,
      pruneTimeout: 3_600_000,
      deletion: 'orphan',
      namespaces: [],
      allowedKinds: [],
    })
  })

  it('take an impossible dry_run_strategy for the harmless one', () => {
    assert.is(projectsOf({ manifestProjects: [{ dryRunStrategy: 'sever' }] })[0]?.dryRun, 'client')
  })

  it('live in the first namespace where there are only some', () => {
    assert.is(projectsOf({ manifestProjects: [{}], namespaces: ['team-a', 'team-b'] })[0]?.defaultNamespace, 'team-a')
  })

  it('are refused as a whole where a folder is none of the repository: nothing of it would ever come', () => {
    for (const kustomize of ['overlays\\prod', '../other', 'a/../../b', 'x\0']) {
      const message = mistakeIn({ manifestProjects: [{ paths: [{ kustomize }] }] })
      assert.match(message, /paths\[0\]\.kustomize is ".*", which is no folder inside the repository/)
    }
    const message = mistakeIn({ manifestProjects: [{ paths: [{ chart: { path: '../x' } }] }] })
    assert.match(message, /paths\[0\]\.chart\.path is "\.\.\/x", which is no folder inside the repository/)
  })

  const MISTAKES = [
    { gitops: { manifestProjects: [{ id: 'a' }, { id: 'a' }] }, message: /duplicate source id/, why: 'two workers would fight' },
    {
      gitops: { manifestProjects: [{ inventoryPolicy: 'x' }] },
      message: /\[0\]\.inventory_policy is "x"/,
      why: 'it is no policy',
    },
    { gitops: { manifestProjects: [{ deletion: 'x' }] }, message: /deletion is "x"/, why: 'nobody may guess here' },
    { gitops: { manifestProjects: [{ paths: [{}] }] }, message: /paths\[0\] must have a glob/, why: 'it chooses nothing' },
    { gitops: { manifestProjects: [{ ref: {} }] }, message: /ref must name/, why: 'it names nothing' },
    {
      gitops: { manifestProjects: [{ defaultNamespace: 'A b' }] },
      message: /no name of a namespace/,
      why: 'it is part of a path',
    },
    {
      gitops: { manifestProjects: [{ defaultNamespace: 'x' }], namespaces: ['y'] },
      message: /not among gitops.namespaces/,
      why: 'the inventory would lie outside',
    },
  ]
  for (const { gitops, message, why } of MISTAKES)
    it(`are refused as a whole where ${message.source}`, () => assert.match(mistakeIn(gitops), message, why))
})
