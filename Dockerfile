# The image of Reprieve: built and run on Debian 12 with Debian's own packages.
#
#   docker build -t reprieve:0.1.0 .
FROM debian:12 AS build
WORKDIR /src
# The packages before the sources: they change less often.
COPY scripts/setup scripts/setup
RUN scripts/setup build && apt-get clean
COPY CMakeLists.txt CMakePresets.json ./
COPY cmake cmake
COPY src src
ARG JOBS=2
RUN cmake --preset release -DREPRIEVE_TESTS=OFF \
 && cmake --build --preset release --target reprieve -j "$JOBS" \
 && cmake --install build/release --strip --prefix /usr/local

FROM debian:12-slim
# The shared libraries that the program is linked with, and the authorities for servers outside the cluster.
RUN apt-get update \
 && apt-get install -y --no-install-recommends \
      ca-certificates libcurl4 libfmt9 libspdlog1.10 libyaml-cpp0.7 libsimdjson14 libre2-9 libssl3 \
      libcpp-httplib0.11 libprometheus-cpp-core1.0 \
 && rm -rf /var/lib/apt/lists/*
COPY --from=build /usr/local/bin/reprieve /usr/local/bin/reprieve
USER 65532:65532
EXPOSE 8080
ENTRYPOINT ["/usr/local/bin/reprieve"]
CMD ["run", "--in-cluster"]
