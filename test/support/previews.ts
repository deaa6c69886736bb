import { type Preview, Previews, typeMetaOf } from '../../src/api/index.ts'

/** As a person makes it, of the project `shop`. */
export const preview = (namespace: string, name: string, spec: Partial<Preview['spec']> = {}): Preview => ({
  ...typeMetaOf(Previews),
  metadata: { name, namespace },
  spec: {
    branches: { project: 'shop' },
    deploymentTargetClassName: 'isolation-level-namespace',
    template: { spec: { source: { path: 'deploy' } } },
    ...spec,
  },
})
