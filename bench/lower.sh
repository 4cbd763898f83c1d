# Lowering TTIR to Tile IR bytecode, ms on one core: matmul and others.
build_release lower_bench
golden=$root/tests/golden/tileir/3.9
"$build/bin/lower_bench" matmul="$golden/matmul.ttir" add="$golden/add.ttir" \
  softmax="$golden/softmax.ttir" descriptors="$golden/matmul_descriptors.ttir"
