import { testDriver } from '../driver-suite.ts'

await testDriver('osimage-rpm-ostree.ts')
